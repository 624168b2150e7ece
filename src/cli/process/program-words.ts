import { existsSync, realpathSync } from 'node:fs'
import { delimiter, isAbsolute, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { processVariables } from '../../config/secrets.ts'
import { toShellWord } from '../../lib/text/shell-word.ts'

const INSTALLATION = fileURLToPath(new URL('../../../', import.meta.url))
export const LAUNCHER = join(INSTALLATION, 'bin', 'intentd.mjs')

/**
 * @returns `intentd` where the shell finds this installation, else how to start its file from there
 */
export function programWords(directory: string, { PATH = '' } = processVariables()): string {
  if (PATH.split(delimiter).some(isOurs)) return 'intentd'
  const path = relative(directory, LAUNCHER)
  const isWithin = !path.startsWith('..') && !isAbsolute(path)
  return `node ${toShellWord(isWithin ? path : LAUNCHER)}`
}

function isOurs(folder: string): boolean {
  const link = join(folder, 'intentd')
  return folder !== '' && existsSync(link) && realpathSync(link) === realpathSync(LAUNCHER)
}
