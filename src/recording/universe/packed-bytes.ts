/** Variable length: seven bits a byte, the lowest first; the eighth says that more follow. */
import { Buffer } from 'node:buffer'

/** Twice as much is still exact in a float. */
export const WHOLE_MAX = 2 ** 51

export class PackedWriter {
  #bytes = Buffer.allocUnsafe(65_536)
  #length = 0

  /** @param value A whole number, 0 to twice {@link WHOLE_MAX}. */
  unsigned(value: number): void {
    this.#reserve(8)
    let rest = value
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) + 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#bytes[this.#length++] = rest
  }

  /** @param value A whole number within ± {@link WHOLE_MAX}. */
  signed(value: number): void {
    this.unsigned(value < 0 ? -2 * value - 1 : 2 * value)
  }

  float(value: number): void {
    this.#reserve(8)
    this.#length = this.#bytes.writeDoubleLE(value, this.#length)
  }

  text(value: string): void {
    const bytes = Buffer.from(value)
    this.unsigned(bytes.length)
    this.#reserve(bytes.length)
    this.#length += bytes.copy(this.#bytes, this.#length)
  }

  /** Returns the bytes since the last call. */
  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.#length))
    this.#length = 0
    return taken
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(2 * this.#bytes.length + bytes)
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}

/** @throws RangeError at the end of the bytes */
export class PackedReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  unsigned(): number {
    const first = this.#bytes[this.#at]
    if (first !== undefined && first < 0x80) {
      this.#at++
      return first
    }
    let value = 0
    for (let scale = 1; ; scale *= 0x80) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined || scale > WHOLE_MAX) throw new RangeError('a number has no end')
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
  }

  signed(): number {
    const value = this.unsigned()
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }

  float(): number {
    const value = this.#bytes.readDoubleLE(this.#at)
    this.#at += 8
    return value
  }

  text(): string {
    const length = this.unsigned()
    const end = this.#at + length
    if (end > this.#bytes.length) throw new RangeError('a text has no end')
    const text = this.#bytes.toString('utf8', this.#at, end)
    this.#at = end
    return text
  }
}
