import { cleanLines } from './text/clean-text.ts'

/** A command's result. It is cleaned, so that no terminal obeys what others have put into it. */
export function writeOut(text: string): void {
  process.stdout.write(cleanLines(text))
}

export function writeAside(text: string): void {
  process.stderr.write(cleanLines(text))
}
