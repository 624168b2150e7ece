import { didYouMeanEnd } from '../lib/did-you-mean.ts'
import type { Problem } from './yaml/problem.ts'
import { formatPath } from './yaml/setting-path.ts'
import { PARAM_OPTION, SET_OPTION, type YamlSource } from './yaml/yaml-source.ts'

/** A longer path is a mistake in quoting. */
const PATH_KEYS_MAX = 8

/** @returns problems */
export const applyOverrides = (source: YamlSource, overrides: readonly string[]): Problem[] =>
  overrides.flatMap((text) => applyOverride(source, text) ?? [])

function applyOverride(source: YamlSource, text: string): Problem | undefined {
  const { keys, value } = readOverride(text, false)
  if (keys === undefined) {
    // Without a path the text may be a secret, so it is not repeated.
    return {
      source: SET_OPTION,
      path: '',
      message: 'expected path=value such as risk.openOrdersMax=20',
    }
  }
  const message = source.override(keys, value)
  return message === undefined ? undefined : { source: SET_OPTION, path: formatPath(keys), message }
}

/** @returns problems */
export function applyParams(source: YamlSource, params: readonly string[]): Problem[] {
  const id = source.read(undefined, ['id'])
  return params.flatMap((text) => {
    const { strategy, keys, value } = readOverride(text, true)
    if (strategy !== id || keys === undefined) return []
    const message = source.overrideParam(strategy, keys, value)
    return message === undefined
      ? []
      : [{ source: PARAM_OPTION, path: formatPath([strategy, ...keys]), message }]
  })
}

export function checkParams(params: readonly string[], ids: readonly string[]): Problem[] {
  return params.flatMap((text) => {
    const { strategy, keys } = readOverride(text, true)
    if (keys === undefined)
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

interface Override {
  readonly keys: readonly string[] | undefined
  readonly strategy: string
  readonly value: string
}

function readOverride(text: string, hasStrategy: boolean): Override {
  const at = text.indexOf('=')
  const words = at < 0 ? [] : text.slice(0, at).trim().split('.')
  const keys = hasStrategy ? words.slice(1) : words
  const isUsable =
    keys.length > 0 &&
    keys.length <= PATH_KEYS_MAX &&
    keys.every((key) => key !== '' && key !== '__proto__')
  return {
    keys: isUsable ? keys : undefined,
    strategy: words[0] ?? '',
    value: text.slice(at + 1),
  }
}
