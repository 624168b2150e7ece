import { cleanLines } from './text/clean-text.ts'

/** Cleaned, so that no terminal obeys what others have put into it. */
export function writeOut(text: string): void {
  process.stdout.write(cleanLines(text))
}

export function writeAside(text: string): void {
  process.stderr.write(cleanLines(text))
}
