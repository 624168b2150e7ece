import { dirname } from 'node:path'

/** A folder, the one above it, and so on up to the root: where Node looks for packages. */
export function listAncestors(folder: string): readonly string[] {
  const above = dirname(folder)
  return above === folder ? [folder] : [folder, ...listAncestors(above)]
}
