import { z } from 'zod'
import { isTimeZone, presetNumber } from './setting-values.ts'

const PEOPLE_MAX = 20

export const chatSchema = z
  .strictObject({
    variable: z
      .string()
      .regex(/^INTENTD_CHAT_[A-Z0-9_]{1,60}$/)
      .meta({
        title: 'the name of a variable such as "INTENTD_CHAT_TOKEN"',
        description: 'The environment variable that holds the token of the telegram bot.',
      }),
    people: z.array(z.int().min(1).max(Number.MAX_SAFE_INTEGER)).min(1).max(PEOPLE_MAX).meta({
      title: 'the numeric ids of people',
      description: 'Numeric ids of those who may ask. The bot answers nobody else.',
    }),
    safer: z.boolean().default(true).meta({
      description:
        'Whether they may restrict, flatten and kill there. What was done stays until it is released.',
    }),
    propose: z.boolean().default(true).meta({
      description:
        'Whether they may propose a release or a reload there, and confirm what was proposed with a one-time code. Nothing of it is done without a code (`intentd pair`).',
    }),
    powers: z
      .record(
        z.string().regex(/^[1-9]\d{0,15}$/),
        z.strictObject({
          safer: z.boolean().optional().meta({
            description: 'Whether this one may restrict, flatten and kill there.',
          }),
          propose: z.boolean().optional().meta({
            description: 'Whether this one may propose and confirm there.',
          }),
        }),
      )
      .default({})
      .meta({
        title: 'powers by the numeric ids of people',
        description:
          'What single ones of these people may do, by their ids; what is not said here is as above.',
      }),
    apiUrl: z
      .url({ protocol: /^https?$/ })
      .optional()
      .meta({
        title: 'an address such as "https://api.telegram.org"',
        description: 'Another server of the telegram bot API; absent: the public one.',
      }),
  })
  .check(({ value, issues }) => {
    for (const id of Object.keys(value.powers))
      if (!value.people.includes(Number(id)))
        issues.push({
          code: 'custom',
          input: id,
          path: ['powers', id],
          message: 'this id is not among people: add it there, or remove it here',
        })
  })
  .meta({ description: 'Questions and commands by Telegram, which `intentd chat` answers.' })

const secretVariable = z
  .string()
  .regex(/^INTENTD_ALERT_[A-Z0-9_]{1,60}$/)
  .meta({ title: 'the name of a variable such as "INTENTD_ALERT_PHONE"' })

const timeOfDay = z
  .string()
  .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/)
  .meta({ title: 'a time of day such as "07:30"' })

const targetSchema = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,31}$/)
      .meta({
        title: 'a name such as "phone" (lower case letters, digits, -; at most 32)',
        description: 'Names it in the log.',
      }),
    kind: z.enum(['json', 'slack', 'discord', 'telegram', 'ntfy']).meta({
      description: 'What it understands. json: an object of documented fields, by POST.',
    }),
    variable: secretVariable.describe(
      "The environment variable that holds the webhook's address; for telegram the token of the bot.",
    ),
    tokenVariable: secretVariable
      .describe(
        'The environment variable that holds a token, sent as Authorization: Bearer (json and ntfy).',
      )
      .optional(),
    chat: z
      .string()
      .regex(/^(?:-?\d{1,20}|@\w{1,64})$/)
      .optional()
      .meta({
        title: 'the id of a chat such as "-100123" or "@channel"',
        description: 'Where the telegram bot writes to.',
      }),
    apiUrl: z
      .url({ protocol: /^https?$/ })
      .optional()
      .meta({
        title: 'an address such as "https://api.telegram.org"',
        description: 'Another server of the telegram bot API; absent: the public one.',
      }),
    least: z.enum(['info', 'warning', 'urgent']).default('info').meta({
      description: 'What is less urgent is not sent there.',
    }),
    trades: z.enum(['none', 'closed', 'fills']).default('none').meta({
      description:
        'Messages when it trades, whatever `least` says. closed: each closed trade with its result; fills: every fill too.',
    }),
  })
  .meta({ description: 'One place that alerts are sent to.' })

const heartbeatSchema = z
  .strictObject({
    variable: secretVariable.describe(
      'The environment variable that holds the address that is called.',
    ),
    everyMs: presetNumber(
      { min: 1000, max: 3_600_000, preset: 60_000 },
      'Time between two calls, in ms.',
    ),
    method: z.enum(['GET', 'POST']).default('GET').meta({ description: 'How it is called.' }),
  })
  .meta({
    description:
      'A call to a monitor that raises the alarm when it stays away. Made only while data are fresh, trading is possible and the books agree.',
  })

export const alertsSchema = z
  .strictObject({
    targets: z
      .array(targetSchema)
      .max(10)
      .default([])
      .meta({ description: 'Where alerts are sent to.' }),
    heartbeat: heartbeatSchema.optional(),
    digestAt: timeOfDay.describe('When the digest of the day is sent; absent: none is.').optional(),
    quiet: z
      .strictObject({
        from: timeOfDay.describe('From this time on.'),
        to: timeOfDay.describe('To this time, the next morning where it is the earlier one.'),
      })
      .optional()
      .meta({ description: 'Only what is urgent is sent then; the rest waits until it is over.' }),
    timezone: z
      .string()
      .min(1)
      .max(64)
      .refine(isTimeZone, { message: 'expected a time zone such as UTC or Europe/Berlin' })
      .default('UTC')
      .meta({
        title: 'a time zone such as "UTC" or "Europe/Berlin"',
        description: 'Time zone of digestAt and quiet.',
      }),
    repeatMs: presetNumber(
      { min: 1000, max: 86_400_000, preset: 600_000 },
      'The same alert again within this time is counted, and sent once with its count, in ms.',
    ),
    lastingMs: presetNumber(
      { min: 1000, max: 3_600_000, preset: 60_000 },
      'How long an unknown order, a failing read or an unsynchronised clock may last before that is an alert, in ms.',
    ),
    repeatsMin: presetNumber(
      { min: 1, max: 1000, preset: 5 },
      'So many rejections of one cause within repeatMs are an alert.',
    ),
  })
  .meta({ description: 'Alerts, and the heartbeat to a monitor.' })

export type AlertSettings = z.infer<typeof alertsSchema>
export type AlertTargetSettings = AlertSettings['targets'][number]
