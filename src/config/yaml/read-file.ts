import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, extname, relative } from 'node:path'
import { didYouMean } from '../../lib/did-you-mean.ts'

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

const NAMED_MAX = 4

/** Advice on a file that is not there: the one that is meant, or those beside it. */
export function adviseMissing(file: string): string {
  const beside = listBeside(file)
  const guess = didYouMean(basename(file), beside)
  if (guess !== undefined) return `; did you mean ${guess}?`
  if (beside.length === 0) return '; paths are relative to the file that they stand in'
  const named = beside.slice(0, NAMED_MAX).join(', ')
  return `; paths are relative to the file that they stand in, and in that folder are ${named}${beside.length > NAMED_MAX ? ', …' : ''}`
}

function listBeside(file: string): readonly string[] {
  try {
    return readdirSync(dirname(file)).filter(
      (name) => extname(name) === extname(file) && !/\p{Cc}/u.test(name),
    )
  } catch {
    return []
  }
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
