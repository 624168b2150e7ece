import { dirname } from 'node:path'

export function listAncestors(folder: string): readonly string[] {
  const above = dirname(folder)
  return above === folder ? [folder] : [folder, ...listAncestors(above)]
}
