import { createInterface } from 'node:readline'

const LINE_CHARS_MAX = 200

/** Shows the question on a terminal only. @returns undefined at the end of input */
export async function askLine(question: string): Promise<string | undefined> {
  const { stdin, stderr } = process
  if (stdin.isTTY) stderr.write(question)
  // Keeps the process while it waits: an earlier question may have ended with `unref`.
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
