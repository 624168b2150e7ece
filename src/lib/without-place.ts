import { fileURLToPath, pathToFileURL } from 'node:url'

const PROGRAM = fileURLToPath(new URL('../', import.meta.url))

/** Texts are then equal on every machine. @param folder absolute, where the process was started */
export function withoutPlace(text: string, folder: string): string {
  // The program may lie in the folder on one machine only.
  const withoutProgram = replacePlace(text, PROGRAM, 'intentd/')
  return folder === '/' ? withoutProgram : replacePlace(withoutProgram, `${folder}/`, '')
}

function replacePlace(text: string, place: string, name: string): string {
  return text.replaceAll(pathToFileURL(place).href, name).replaceAll(place, name)
}
