import { z } from 'zod'
import { defineEndpoint } from '../endpoint.ts'
import { coin, symbol } from '../values.ts'

/** Long accounts for each short one. Public. */
export const longShortRatio = defineEndpoint({
  name: 'longShortRatio',
  method: 'GET',
  path: '/api/v2/mix/market/long-short-ratio',
  auth: 'public',
  limit: { calls: 1, perMs: 1000, scope: 'ip' },
  retry: 'safe',
  section: 'GET /api/v2/mix/market/long-short-ratio (long/short position ratio, public)',
  request: z.strictObject({
    symbol: symbol.describe('Trading pair'),
    period: z.enum(['24h', '30d']).meta({ description: 'How far back', default: '24h' }).optional(),
    coin: coin.describe('Base or quote coin; default the base coin').optional(),
  }),
  response: z.array(
    z.object({
      ts: z.string().describe('Instant, Unix ms'),
      longShortRatio: z.string().describe('Long positions for each short one'),
    }),
  ),
})
