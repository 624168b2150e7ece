import { existsSync, realpathSync } from 'node:fs'
import { dirname, resolve, sep } from 'node:path'

/** The code in the folder in which an assistant may write never runs outside of the guard. */
export const DRAFT_INLINE =
  'an assistant may write this strategy (control.agents.strategies), so it runs in a thread of its own and never inline: leave isolation out, or move its files out of that folder first'

export function listDraftFolders({
  control: { agents },
}: {
  readonly control: { readonly agents: { readonly strategies?: string | undefined } }
}): readonly string[] {
  return agents.strategies === undefined ? [] : [agents.strategies]
}

/** A link in either direction counts. */
export function isAnyWithin(folder: string, files: readonly string[]): boolean {
  const folders = [resolve(folder), realOf(folder)].map((one) =>
    one.endsWith(sep) ? one : one + sep,
  )
  return files
    .flatMap((file) => [resolve(file), realOf(file)])
    .some((file) => folders.some((one) => file.startsWith(one)))
}

/** Follows the part that exists, since a draft may be missing as yet. */
function realOf(path: string): string {
  const whole = resolve(path)
  if (existsSync(whole)) return realpathSync(whole)
  const above = dirname(whole)
  return above === whole
    ? whole
    : resolve(realOf(above), whole.slice(above.length).replace(/^[/\\]/, ''))
}
