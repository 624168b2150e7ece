import { z } from 'zod'
import { defineEndpoint } from '../endpoint.ts'
import { symbol } from '../values.ts'

/** Document: "settingList — list, required, at most 50 items". */
const COPY_SETTINGS_MAX = 50

/** Document: "positive integer 1-400; larger values invalid". Empty and `0` depend on the type. */
const RATIO = /^(|0|[1-9]\d?|[1-3]\d\d|400)$/
const ratioMeaning =
  'Integer 1 to 400. ADD: empty means none set. UPDATE: empty means no change, 0 cancels the earlier ' +
  'setting. DELETE: ignored'

const setting = z
  .strictObject({
    symbol: symbol.describe('Trading pair'),
    productType: z
      .enum(['USDT-FUTURES', 'COIN-FUTURES', 'USDC-FUTURES'])
      .describe('Product type; there is no copy trading on the demo ones'),
    settingType: z.enum(['ADD', 'DELETE', 'UPDATE']).describe('What is done with the symbol'),
    stopSurplusRatio: z.string().describe(`Take-profit ratio. ${ratioMeaning}`).optional(),
    stopLossRatio: z.string().describe(`Stop-loss ratio. ${ratioMeaning}`).optional(),
  })
  .superRefine((item, context) => {
    const { settingType, stopSurplusRatio, stopLossRatio } = item
    if (settingType === 'DELETE') return
    const refuse = (name: string, message: string) =>
      context.addIssue({ code: 'custom', path: [name], message })
    for (const name of ['stopSurplusRatio', 'stopLossRatio'] as const) {
      const ratio = item[name] ?? ''
      if (!RATIO.test(ratio)) {
        const message = 'a ratio is an integer from 1 to 400 in a string'
        context.addIssue({ code: 'invalid_format', format: 'regex', path: [name], message })
      }
      if (ratio === '0' && settingType === 'ADD') {
        refuse(name, '0 cancels an earlier setting and is for UPDATE only')
      }
    }
    if (settingType === 'UPDATE' && !stopSurplusRatio && !stopLossRatio) {
      refuse('stopSurplusRatio', 'UPDATE needs at least one of stopSurplusRatio and stopLossRatio')
    }
  })

export const copyConfigSettingSymbols = defineEndpoint({
  name: 'copyConfigSettingSymbols',
  method: 'POST',
  path: '/api/v2/copy/mix-trader/config-setting-symbols',
  auth: 'schemeA',
  limit: { calls: 5, perMs: 1000, scope: 'uid' },
  retry: 'repeatable',
  section:
    'POST /api/v2/copy/mix-trader/config-setting-symbols (change copy-trade symbol settings)',
  request: z.strictObject({
    settingList: z
      .array(setting)
      .min(1)
      .max(COPY_SETTINGS_MAX, `settingList takes at most ${COPY_SETTINGS_MAX} items`)
      .describe('Settings, at most 50'),
  }),
  response: z.string().describe('The setting result'),
})
