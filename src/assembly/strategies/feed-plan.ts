import type { StrategyConfig } from '../../config/load-config.ts'
import type { Problem } from '../../config/yaml/problem.ts'
import type { YamlSource } from '../../config/yaml/yaml-source.ts'
import type { FeedId } from '../../domain/feed.ts'
import type { EngineSettings } from '../../engine/settings.ts'
import { type PreparedRequest, prepareRequest } from '../../exchange/client/request-writer.ts'
import { didYouMean } from '../../lib/did-you-mean.ts'
import {
  type EndpointName,
  endpointNamed,
  endpointNames,
  type RequestOf,
} from '../../protocol/endpoints.ts'

/** One request that is made again and again for the strategies that asked for it. */
export interface Feed {
  readonly id: FeedId
  readonly endpoint: EndpointName
  readonly request: PreparedRequest
  readonly everyMs: number
}

/** Endpoints that the daemon reads anyway: strategies see their answers in every snapshot. */
const OWN_ENDPOINTS: ReadonlySet<EndpointName> = new Set([
  'tickers',
  'orderFills',
  'singlePosition',
])

/** Endpoints that a feed may name: reads that can be repeated without harm. */
const FEED_ENDPOINTS = endpointNames.filter((name) => {
  const { method, retry, auth } = endpointNamed(name)
  return method === 'GET' && retry === 'safe' && auth !== 'schemeB' && !OWN_ENDPOINTS.has(name)
})

export interface FeedPlan {
  readonly problems: readonly Problem[]
  readonly feeds: readonly Feed[]
  /** By the strategy's own name of the feed. */
  readonly names: ReadonlyMap<string, FeedId>
}

/** Checks the feeds of one strategy file against the endpoints' own rules, with the place of each mistake. */
export function planFeeds(
  { feeds }: StrategyConfig,
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
    // The row's own schema decides whether these texts are a request of it.
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
  return { problems, feeds: planned, names }
}

/** Feeds of the same request become one, which is read as often as the most frequent of them. */
export function mergeFeeds(feeds: readonly Feed[]): readonly Feed[] {
  const merged = new Map<FeedId, Feed>()
  for (const feed of feeds) {
    const known = merged.get(feed.id)
    if (!known || feed.everyMs < known.everyMs) merged.set(feed.id, feed)
  }
  return [...merged.values()]
}

/**
 * The public or the private feeds of these strategies. A public one is the same for every account and is read once for
 * all of them; a private one must be signed and belongs to one account.
 */
export function feedsOf(
  strategies: readonly { readonly feeds: readonly Feed[] }[],
  which: 'public' | 'private',
): readonly Feed[] {
  return mergeFeeds(strategies.flatMap(({ feeds }) => feeds)).filter(
    ({ endpoint }) => (endpointNamed(endpoint).auth === 'public') === (which === 'public'),
  )
}

/** A sentence for each endpoint of which these feeds ask more calls than its documented limit. */
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
