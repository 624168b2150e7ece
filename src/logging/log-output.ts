import { fstatSync } from 'node:fs'
import { Writable } from 'node:stream'
import { isatty } from 'node:tty'
import { systemTimers } from '../lib/timers.ts'

/** Further characters are left out, and trading goes on. */
const WAITING_MAX = 1_000_000
const END_MS = 1000

/** A terminal or another program must read before more can be written. */
export function hasReader(descriptor: 1 | 2): boolean {
  const place = fstatSync(descriptor)
  return isatty(descriptor) || place.isFIFO() || place.isSocket()
}

/** Never waits for a reader that has stopped. The last line before an end is written at once. */
export class LogOutput {
  readonly #stream: NodeJS.WriteStream
  readonly #onMissing: (lines: number) => void
  #missing = 0
  /** The reader has gone (`| head`), or the terminal was closed. */
  #isGone = false

  /** @param onMissing gets the number of lines that were left out */
  constructor(descriptor: 1 | 2, onMissing: (lines: number) => void) {
    this.#stream = descriptor === 1 ? process.stdout : process.stderr
    this.#onMissing = onMissing
    // Node makes a terminal wait (Ctrl-S), and has no public function against that.
    const { _handle: handle } = this.#stream as {
      _handle?: { setBlocking?: (isBlocking: boolean) => void }
    }
    handle?.setBlocking?.(false)
    this.#stream.on('drain', () => this.#sayMissing())
    this.#stream.on('error', () => {
      this.#isGone = true
    })
  }

  write(text: string): void {
    if (this.#isGone) return
    if (this.#stream.writableLength < WAITING_MAX) this.#stream.write(text)
    else this.#missing += 1
  }

  asStream(): Writable {
    return new Writable({
      decodeStrings: false,
      write: (text: string | Buffer, _encoding, done) => {
        this.write(String(text))
        done()
      },
    })
  }

  #sayMissing(): void {
    const missing = this.#missing
    this.#missing = 0
    if (missing > 0) this.#onMissing(missing)
  }
}

const unread = new Set<NodeJS.WriteStream>()

/** The end of the process has waited in vain already. */
export function isUnread(stream: NodeJS.WriteStream): boolean {
  return unread.has(stream)
}

export async function endOutputs(): Promise<void> {
  await Promise.all([process.stdout, process.stderr].map(endOutput))
}

async function endOutput(stream: NodeJS.WriteStream): Promise<void> {
  if (stream.writableLength === 0) return
  await new Promise<void>((resolve) => {
    const cancel = systemTimers.after(END_MS, () => {
      unread.add(stream)
      resolve()
    })
    stream.write('', () => {
      cancel()
      resolve()
    })
  })
}
