/** Applies `--set path=value` under the rules of the file. */
import { didYouMeanEnd } from '../lib/did-you-mean.ts'
import type { Problem } from './yaml/problem.ts'
import { formatPath } from './yaml/setting-path.ts'
import { PARAM_OPTION, SET_OPTION, type YamlSource } from './yaml/yaml-source.ts'

/** A longer path is a mistake in quoting. */
const PATH_KEYS_MAX = 8

/** @returns problems of unreadable overrides */
export const applyOverrides = (source: YamlSource, overrides: readonly string[]): Problem[] =>
  overrides.flatMap((text) => applyOverride(source, text) ?? [])

function applyOverride(source: YamlSource, text: string): Problem | undefined {
  const keys = pathOf(text)
  if (!isUsable(keys)) {
    // Without a path the text may be a secret, so it is not repeated.
    return {
      source: SET_OPTION,
      path: '',
      message: 'expected path=value such as risk.openOrdersMax=20',
    }
  }
  const message = source.override(keys, valueOf(text))
  return message === undefined ? undefined : { source: SET_OPTION, path: formatPath(keys), message }
}

/**
 * Applies `strategy.param=value`.
 * @returns problems of unreadable ones
 */
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

/** @param ids of existing strategies */
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

/** Empty without an equals sign. */
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
