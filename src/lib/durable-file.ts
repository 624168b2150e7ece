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
 * The file survives a power cut, and has another name until it is complete. Only the owner may read
 * it.
 */
export function writeDurably(file: string, contents: string | Uint8Array): void {
  const unfinished = `${file}.new`
  const bytes = typeof contents === 'string' ? Buffer.from(contents) : contents
  const descriptor = openSync(unfinished, 'w', 0o600)
  try {
    // A nearly full disk may take only a part.
    for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes.subarray(at))
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(unfinished, file)
  syncDirectory(dirname(file))
}

/**
 * `mkdirSync` with `recursive` never returns where a file system takes no directories (/proc).
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

export function syncFile(file: string): void {
  syncOpened(openSync(file, 'r+'))
}

/** A name is durable only with its directory. Windows cannot do this. */
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
