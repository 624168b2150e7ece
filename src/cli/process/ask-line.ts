import { createInterface } from 'node:readline'

/** A line may be a code, and longer ones are none. */
const LINE_CHARS_MAX = 200

/**
 * The next line of standard input; undefined at its end. The question is shown only at a terminal:
 * a program that answers knows it.
 */
export async function askLine(question: string): Promise<string | undefined> {
  const { stdin, stderr } = process
  if (stdin.isTTY) stderr.write(question)
  const lines = createInterface({ input: stdin })
  try {
    for await (const line of lines) return line.trim().slice(0, LINE_CHARS_MAX)
    return undefined
  } finally {
    lines.close()
    stdin.unref?.()
  }
}
