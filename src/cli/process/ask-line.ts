import { createInterface } from 'node:readline'

/** A line may be a code, and longer ones are none. */
const LINE_CHARS_MAX = 200

/** Undefined at the end of input. Programs are shown no question. */
export async function askLine(question: string): Promise<string | undefined> {
  const { stdin, stderr } = process
  if (stdin.isTTY) stderr.write(question)
  // An earlier question let go of it, and something must keep the process while it waits.
  stdin.ref?.()
  const lines = createInterface({ input: stdin })
  try {
    for await (const line of lines) return line.trim().slice(0, LINE_CHARS_MAX)
    return undefined
  } finally {
    lines.close()
    stdin.unref?.()
  }
}
