/** `--set path=value`: a setting from the command line, held to the same rules as one in the file. */
import { didYouMeanEnd } from '../lib/did-you-mean.ts'
import type { Problem } from './yaml/problem.ts'
import { formatPath } from './yaml/setting-path.ts'
import { PARAM_OPTION, SET_OPTION, type YamlSource } from './yaml/yaml-source.ts'

/** Longer than any path of ours; a mistake in quoting, rather. */
const PATH_KEYS_MAX = 8

/** Puts every override into the document. @returns what cannot be read as one. */
export const applyOverrides = (source: YamlSource, overrides: readonly string[]): Problem[] =>
  overrides.flatMap((text) => applyOverride(source, text) ?? [])

function applyOverride(source: YamlSource, text: string): Problem | undefined {
  const keys = pathOf(text)
  if (!isUsable(keys)) {
    // Without a path there is no telling what the rest is: it may be a secret, so it is not repeated.
    return {
      source: SET_OPTION,
      path: '',
      message: 'expected path=value such as risk.openOrdersMax=20',
    }
  }
  const message = source.override(keys, valueOf(text))
  return message === undefined ? undefined : { source: SET_OPTION, path: formatPath(keys), message }
}

/** Puts every `strategy.param=value` that is meant for this strategy into its file. @returns what cannot be read as one. */
export function applyParams(source: YamlSource, params: readonly string[]): Problem[] {
  const id = source.read(undefined, ['id'])
  return params.flatMap((text) => {
    const [strategy = '', ...keys] = pathOf(text)
    if (strategy !== id || !isUsable(keys)) return []
    const message = source.overrideParam(strategy, keys, valueOf(text))
    return message === undefined
      ? []
      : [{ source: PARAM_OPTION, path: formatPath([strategy, ...keys]), message }]
  })
}

/** A parameter that no strategy was given. @param ids Of the strategies that there are. */
export function checkParams(params: readonly string[], ids: readonly string[]): Problem[] {
  return params.flatMap((text) => {
    const [strategy = '', ...keys] = pathOf(text)
    if (!isUsable(keys))
      return [
        {
          source: PARAM_OPTION,
          path: '',
          message: 'expected strategy.param=value such as grid-btc.levels=4',
        },
      ]
    if (ids.includes(strategy)) return []
    return [
      {
        source: PARAM_OPTION,
        path: strategy,
        message: `no such strategy${didYouMeanEnd(strategy, ids)}`,
      },
    ]
  })
}

/** The keys before the sign of equality; none without one. */
function pathOf(text: string): readonly string[] {
  const at = text.indexOf('=')
  return at < 0 ? [] : text.slice(0, at).trim().split('.')
}

function valueOf(text: string): string {
  return text.slice(text.indexOf('=') + 1)
}

function isUsable(keys: readonly string[]): boolean {
  return (
    keys.length > 0 &&
    keys.length <= PATH_KEYS_MAX &&
    keys.every((key) => key !== '' && key !== '__proto__')
  )
}
