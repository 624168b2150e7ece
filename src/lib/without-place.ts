import { fileURLToPath, pathToFileURL } from 'node:url'

const PROGRAM = fileURLToPath(new URL('../', import.meta.url))

/**
 * Names files of the folder as seen from it, and those of the program by its name. @param folder
 * the absolute one in which the process was started
 */
export function withoutPlace(text: string, folder: string): string {
  // The program may lie in the folder on one machine, and elsewhere on another.
  const withoutProgram = replacePlace(text, PROGRAM, 'intentd/')
  // All absolute paths lie in the root.
  return folder === '/' ? withoutProgram : replacePlace(withoutProgram, `${folder}/`, '')
}

function replacePlace(text: string, place: string, name: string): string {
  return text.replaceAll(pathToFileURL(place).href, name).replaceAll(place, name)
}
