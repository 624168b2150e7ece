import { fileURLToPath, pathToFileURL } from 'node:url'

/** Where this program lies: its files are named by it. */
const PROGRAM = fileURLToPath(new URL('../', import.meta.url))

/**
 * A text as it would be on any machine: files of the folder are named as seen from it, and those of the program by its
 * name. @param folder Absolute: the one that the process was started in.
 */
export function withoutPlace(text: string, folder: string): string {
  // The program may lie in the folder on one machine, and elsewhere on another.
  const withoutProgram = replacePlace(text, PROGRAM, 'intentd/')
  // All that is absolute lies in the root.
  return folder === '/' ? withoutProgram : replacePlace(withoutProgram, `${folder}/`, '')
}

function replacePlace(text: string, place: string, name: string): string {
  return text.replaceAll(pathToFileURL(place).href, name).replaceAll(place, name)
}
