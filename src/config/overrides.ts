/** `--set path=value`: a setting from the command line, held to the same rules as one in the file. */
import type { Problem } from './yaml/problem.ts'
import { formatPath } from './yaml/setting-path.ts'
import { SET_OPTION, type YamlSource } from './yaml/yaml-source.ts'

/** Longer than any path of ours; a mistake in quoting, rather. */
const PATH_KEYS_MAX = 8

/** Puts every override into the document. @returns what cannot be read as one. */
export const applyOverrides = (source: YamlSource, overrides: readonly string[]): Problem[] =>
  overrides.flatMap((text) => applyOverride(source, text) ?? [])

function applyOverride(source: YamlSource, text: string): Problem | undefined {
  const at = text.indexOf('=')
  const keys = at < 0 ? [] : text.slice(0, at).trim().split('.')
  if (
    keys.length === 0 ||
    keys.length > PATH_KEYS_MAX ||
    keys.some((key) => key === '' || key === '__proto__')
  ) {
    // Without a path there is no telling what the rest is: it may be a secret, so it is not repeated.
    return { source: SET_OPTION, path: '', message: 'expected path=value such as risk.openOrdersMax=20' }
  }
  const message = source.override(keys, text.slice(at + 1))
  return message === undefined ? undefined : { source: SET_OPTION, path: formatPath(keys), message }
}
