import { readFileSync, statSync } from 'node:fs'
import { relative } from 'node:path'

/** A hundred times the largest sensible file. */
const FILE_BYTES_MAX = 1_048_576

export type FileText = { readonly text: string } | { readonly failure: string }

const FAILURES: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  ENOTDIR: 'no such file',
  EACCES: 'no permission to read this file',
  EPERM: 'no permission to read this file',
  ELOOP: 'a symbolic link that leads nowhere',
  ENAMETOOLONG: 'no such file: the name is too long',
  EISDIR: 'not a file',
  ERR_INVALID_ARG_VALUE: 'no such file: the name has a null byte in it',
}

/** Never throws. */
export function readTextFile(file: string): FileText {
  try {
    const stats = statSync(file)
    if (!stats.isFile()) return { failure: 'not a file' }
    if (stats.size > FILE_BYTES_MAX) return { failure: `larger than ${FILE_BYTES_MAX} bytes` }
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file)) }
  } catch (error) {
    return { failure: explainFailure(error) }
  }
}

export function explainFailure(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'not UTF-8 text'
  return FAILURES[code] ?? `cannot be read (${code})`
}

/** Follows links. Never throws. */
export function isFile(file: string): boolean {
  try {
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/** Relative to the working directory; control characters become `?`. */
export const shownPath = (file: string, cwd: string): string =>
  (relative(cwd, file) || file).replaceAll(/\p{Cc}/gu, '?')
