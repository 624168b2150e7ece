import { describeRequest, type Fields } from './request-rules.ts'

const SETTING = { symbol: 'BTCUSDT', productType: 'USDT-FUTURES', settingType: 'ADD' }
const setting = (change: Fields): Fields => ({ settingList: [{ ...SETTING, ...change }] })

describeRequest(
  'copyOrderTotalDetail',
  {},
  {
    accepted: [['nothing', {}]],
    refused: [['anything', { symbol: 'BTCUSDT' }, /symbol/]],
  },
)

describeRequest('copyConfigSettingSymbols', setting({}), {
  accepted: [
    ['an addition without ratios', {}],
    ['ratios of 1 and 400', setting({ stopSurplusRatio: '400', stopLossRatio: '1' })],
    ['empty ratios of an addition: none set', setting({ stopSurplusRatio: '', stopLossRatio: '' })],
    ['an update of one ratio', setting({ settingType: 'UPDATE', stopLossRatio: '30' })],
    [
      'an update that changes one only',
      setting({ settingType: 'UPDATE', stopLossRatio: '30', stopSurplusRatio: '' }),
    ],
    ['an update that cancels one', setting({ settingType: 'UPDATE', stopSurplusRatio: '0' })],
    [
      'a deletion with a ratio of 0: ignored',
      setting({ settingType: 'DELETE', stopLossRatio: '0' }),
    ],
    [
      'a deletion with ratios that are none: ignored',
      setting({ settingType: 'DELETE', stopLossRatio: '401', stopSurplusRatio: 'much' }),
    ],
    ['50 settings', { settingList: Array.from({ length: 50 }, () => SETTING) }],
  ],
  refused: [
    ['no list', { settingList: undefined }, /settingList/],
    ['an empty list', { settingList: [] }, /settingList/],
    [
      '51 settings',
      { settingList: Array.from({ length: 51 }, () => SETTING) },
      /settingList takes at most 50 items/,
    ],
    ['a demo product type', setting({ productType: 'SUSDT-FUTURES' }), /productType/],
    ['a setting in lower case', setting({ settingType: 'add' }), /settingType/],
    ['a ratio of 401', setting({ stopLossRatio: '401' }), /integer from 1 to 400/],
    ['half a ratio', setting({ stopLossRatio: '1.5' }), /integer from 1 to 400/],
    [
      'a ratio of 401 in an update',
      setting({ settingType: 'UPDATE', stopSurplusRatio: '401' }),
      /integer from 1 to 400/,
    ],
    [
      'a ratio that is a number, in a deletion too',
      setting({ settingType: 'DELETE', stopLossRatio: 5 }),
      /string/,
    ],
    [
      '0 in an addition',
      setting({ stopLossRatio: '0' }),
      /0 cancels an earlier setting and is for UPDATE/,
    ],
    [
      'an update of nothing',
      setting({ settingType: 'UPDATE' }),
      /UPDATE needs at least one of stopSurplusRatio and stopLossRatio/,
    ],
    [
      'an update of empty ratios',
      setting({ settingType: 'UPDATE', stopSurplusRatio: '', stopLossRatio: '' }),
      /UPDATE needs at least one/,
    ],
  ],
})

const DAY_MS = 24 * 3_600_000
const START = 1_700_000_000_000
const span = (days: number): Fields => ({
  startTime: String(START),
  endTime: String(START + days * DAY_MS),
})

describeRequest(
  'convertRecords',
  {},
  {
    accepted: [
      ['nothing at all', {}],
      ['90 days', span(90)],
      ['a page of 100', { limit: '100', idLessThan: '9', orderId: '1' }],
    ],
    refused: [
      ['91 days', span(91), /startTime and endTime may be at most 90 days apart/],
      ['a page of 101', { limit: '101' }, /limit is 1 to 100/],
    ],
  },
)

describeRequest(
  'createVirtualSubaccounts',
  { subAccountList: ['abcdefgh'] },
  {
    accepted: [
      ['8 letters', {}],
      ['several', { subAccountList: ['abcdefgh', 'ABCDEFGH'] }],
    ],
    refused: [
      ['7 letters', { subAccountList: ['abcdefg'] }, /an alias is 8 English letters/],
      ['9 letters', { subAccountList: ['abcdefghi'] }, /an alias is 8 English letters/],
      ['a digit', { subAccountList: ['abcdefg1'] }, /an alias is 8 English letters/],
      [
        'a letter of another language',
        { subAccountList: ['abcdefgé'] },
        /an alias is 8 English letters/,
      ],
      ['one twice', { subAccountList: ['abcdefgh', 'abcdefgh'] }, /an alias is unique/],
      ['none', { subAccountList: [] }, /subAccountList/],
    ],
  },
)

describeRequest(
  'gatewayTest',
  { query: { a: '1', b: '2' }, body: { amount: '1' } },
  {
    accepted: [
      ['two query parameters and a JSON body', {}],
      ['a nested body', { body: { list: [1, { deep: null }] } }],
    ],
    refused: [
      ['one query parameter', { query: { a: '1' } }, /two query parameters/],
      ['no body', { body: undefined }, /body/],
      ['a parameter that is a number', { query: { a: 1, b: '2' } }, /query/],
    ],
  },
)
