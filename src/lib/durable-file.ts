import { Buffer } from 'node:buffer'
import process from 'node:process'
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'

/**
 * Writes a file for its owner alone, so that it survives a power cut. Under another name until it is whole: a
 * process that ends in the middle leaves no file, not half of one.
 */
export function writeDurably(file: string, contents: string | Uint8Array): void {
  const unfinished = `${file}.new`
  const bytes = typeof contents === 'string' ? Buffer.from(contents) : contents
  const descriptor = openSync(unfinished, 'w', 0o600)
  try {
    // A disk that is nearly full may take a part.
    for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes.subarray(at))
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(unfinished, file)
  syncDirectory(dirname(file))
}

/**
 * Makes a directory and those above it; one that is there already is left as it is. Not by `mkdirSync` with
 * `recursive`: where a file system takes no directories (/proc), that never comes back.
 *
 * @throws the error of the file system
 */
export function makeDirectory(directory: string, mode = 0o777): void {
  if (existsSync(directory) && statSync(directory).isDirectory()) return
  const above = dirname(directory)
  if (!existsSync(above)) makeDirectory(above, mode)
  try {
    mkdirSync(directory, { mode })
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!existsSync(directory) || !statSync(directory).isDirectory()) throw error
  }
}

/** After it, everything written to the file survives a power cut. */
export function syncFile(file: string): void {
  syncOpened(openSync(file, 'r+'))
}

/** A name is durable only with its directory. Windows has no such thing, and does without. */
export function syncDirectory(directory: string): void {
  if (process.platform !== 'win32') syncOpened(openSync(directory, 'r'))
}

function syncOpened(descriptor: number): void {
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
