import type { StrategyConfig } from '../../config/load-config.ts'
import type { Problem } from '../../config/yaml/problem.ts'
import type { YamlSource } from '../../config/yaml/yaml-source.ts'
import type { FeedId } from '../../domain/feed.ts'
import { feedOfSignal } from '../../domain/signal.ts'
import type { EngineSettings } from '../../engine/settings.ts'
import { type PreparedRequest, prepareRequest } from '../../exchange/client/request-writer.ts'
import { didYouMean } from '../../lib/did-you-mean.ts'
import {
  type EndpointName,
  endpointNamed,
  endpointNames,
  type RequestOf,
} from '../../protocol/endpoints.ts'

/** Strategies share equal requests. */
export interface Feed {
  readonly id: FeedId
  readonly endpoint: EndpointName
  readonly request: PreparedRequest
  readonly everyMs: number
}

/** Every snapshot has these anyway. */
const OWN_ENDPOINTS: ReadonlySet<EndpointName> = new Set([
  'tickers',
  'orderFills',
  'singlePosition',
])

/** These can be repeated without harm. */
const FEED_ENDPOINTS = endpointNames.filter((name) => {
  const { method, retry, auth } = endpointNamed(name)
  return method === 'GET' && retry === 'safe' && auth !== 'schemeB' && !OWN_ENDPOINTS.has(name)
})

export interface FeedPlan {
  readonly problems: readonly Problem[]
  readonly feeds: readonly Feed[]
  /** Signals have names too. */
  readonly names: ReadonlyMap<string, FeedId>
}

/** Each mistake is reported with its place. */
export function planFeeds(
  { feeds, signals }: Pick<StrategyConfig, 'feeds' | 'signals'>,
  source: YamlSource,
  positionMode: EngineSettings['positionMode'],
): FeedPlan {
  const problems: Problem[] = []
  const planned: Feed[] = []
  const names = new Map<string, FeedId>()
  for (const [name, { endpoint: asked, params, everyMs }] of Object.entries(feeds)) {
    const endpoint = FEED_ENDPOINTS.find((candidate) => candidate === asked)
    if (endpoint === undefined) {
      const guess = didYouMean(asked, FEED_ENDPOINTS)
      const hint =
        guess === undefined ? `those are ${FEED_ENDPOINTS.join(', ')}` : `did you mean ${guess}?`
      problems.push(
        source.problem(['feeds', name, 'endpoint'], `${asked} is no endpoint for feeds; ${hint}`),
      )
      continue
    }
    // The row's schema judges whether these texts form a request.
    const prepared = prepareRequest(endpoint, params as RequestOf<typeof endpoint>, {
      positionMode,
    })
    if (prepared.kind === 'invalid') {
      problems.push(source.problem(['feeds', name, 'params'], prepared.problem))
      continue
    }
    const id = `${endpoint}?${prepared.request.query}`
    names.set(name, id)
    planned.push({ id, endpoint, request: prepared.request, everyMs })
  }
  for (const name of signals) names.set(name, feedOfSignal(name))
  return { problems, feeds: planned, names }
}

/** At the shortest interval. */
export function mergeFeeds(feeds: readonly Feed[]): readonly Feed[] {
  const merged = new Map<FeedId, Feed>()
  for (const feed of feeds) {
    const known = merged.get(feed.id)
    if (!known || feed.everyMs < known.everyMs) merged.set(feed.id, feed)
  }
  return [...merged.values()]
}

/** Public feeds are read once for all accounts; private ones belong to one. */
export function feedsOf(
  strategies: readonly { readonly feeds: readonly Feed[] }[],
  which: 'public' | 'private',
): readonly Feed[] {
  return mergeFeeds(strategies.flatMap(({ feeds }) => feeds)).filter(
    ({ endpoint }) => (endpointNamed(endpoint).auth === 'public') === (which === 'public'),
  )
}

/** Endpoints whose documented limit these feeds exceed. */
export function overloadedEndpoints(feeds: readonly Feed[]): readonly string[] {
  return [...Map.groupBy(mergeFeeds(feeds), (feed) => feed.endpoint)].flatMap(
    ([endpoint, group]) => {
      const { calls, perMs } = endpointNamed(endpoint).limit
      const asked = group.reduce((sum, feed) => sum + perMs / feed.everyMs, 0)
      if (asked <= calls) return []
      return [
        `the feeds of ${endpoint} ask ${asked.toFixed(1)} calls in ${perMs} ms, the limit is ${calls}`,
      ]
    },
  )
}
