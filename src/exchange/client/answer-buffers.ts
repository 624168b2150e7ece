/** A buffer that grows: the bytes of an answer as they arrive. */
export class AnswerBuffer {
  #bytes: Buffer
  #length = 0

  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity)
  }

  get length(): number {
    return this.#length
  }

  get capacity(): number {
    return this.#bytes.length
  }

  /** A view of what has arrived: valid until the buffer is used again. */
  get view(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  append(chunk: Uint8Array): void {
    const length = this.#length + chunk.length
    if (length > this.#bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(length, this.#bytes.length * 2))
      this.#bytes.copy(grown, 0, 0, this.#length)
      this.#bytes = grown
    }
    this.#bytes.set(chunk, this.#length)
    this.#length = length
  }

  reset(): void {
    this.#length = 0
  }
}

/** Big enough for a list of all tickers (some 300 KB), so that it is copied once and never grows. */
const CAPACITY = 512 * 1024

/** Buffers that are kept for reuse: more than there are calls in flight at a time. Others go to the garbage collector. */
const KEPT_MAX = 4

/** Larger buffers are not kept: one huge answer must not hold its memory for months. */
const KEPT_BYTES_MAX = 2 * 1024 * 1024

/** Lends buffers for answers and uses them again and again: the hot path allocates nothing of that size. */
export class AnswerBuffers {
  /** Largest answer that is read, in bytes. */
  readonly bytesMax: number
  readonly #free: AnswerBuffer[] = []

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax
  }

  borrow(): AnswerBuffer {
    return this.#free.pop() ?? new AnswerBuffer(Math.min(CAPACITY, this.bytesMax))
  }

  giveBack(buffer: AnswerBuffer): void {
    buffer.reset()
    if (this.#free.length < KEPT_MAX && buffer.capacity <= KEPT_BYTES_MAX) this.#free.push(buffer)
  }
}
