import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeDirectory, writeDurably } from '../lib/durable-file.ts'
import { Failure, messageOf } from '../lib/failure.ts'

/** @throws Failure IMPORT_EXISTS, IMPORT_UNWRITABLE */
export function writeNewFile(
  file: string,
  bytes: Uint8Array,
  { isReplacing }: { readonly isReplacing: boolean },
): void {
  if (!isReplacing && existsSync(file)) {
    throw new Failure({
      code: 'IMPORT_EXISTS',
      sentence: 'the file exists already',
      facts: { file },
      hint: '--replace writes over it; to add to it, also list it among the files',
    })
  }
  try {
    makeDirectory(dirname(file))
    writeDurably(file, bytes)
  } catch (cause) {
    throw new Failure({
      code: 'IMPORT_UNWRITABLE',
      sentence: 'the file cannot be written',
      facts: { file, problem: messageOf(cause) },
      hint: 'check --out, its rights and the space on the disk',
      cause,
    })
  }
}
