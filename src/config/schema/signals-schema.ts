import { z } from 'zod'
import { presetNumber, wholeNumber } from './setting-values.ts'

/** Signals are compared, kept and journaled, so they stay small. */
const FIELDS_MAX = 16
const SIGNALS_MAX = 16
const TEXT_LENGTH_MAX = 200
const DAY_MS = 86_400_000

export const SIGNAL_NAME = /^[a-zA-Z][a-zA-Z0-9]{0,31}$/
export const SIGNAL_NAME_TITLE = 'a name such as "tv" (letters and digits; at most 32)'

const fieldName = z
  .string()
  .regex(/^[a-zA-Z][a-zA-Z0-9_]{0,31}$/)
  .meta({ title: 'the name of a field such as "action"' })

const optional = z.boolean().default(false).meta({ description: 'Whether it may be absent.' })

const fieldSchema = z
  .discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('number'),
      min: z.number().optional().meta({ description: 'Least number; it counts as inside.' }),
      max: z.number().optional().meta({ description: 'Largest number; it counts as inside.' }),
      optional,
    }),
    z.strictObject({
      type: z.literal('text'),
      lengthMax: presetNumber(
        { min: 1, max: TEXT_LENGTH_MAX, preset: 80 },
        'Most characters of a text.',
      ),
      optional,
    }),
    z.strictObject({
      type: z.literal('oneOf'),
      values: z
        .array(z.string().min(1).max(TEXT_LENGTH_MAX))
        .min(1)
        .max(32)
        .meta({ description: 'The texts that it may be.' }),
      optional,
    }),
    z.strictObject({ type: z.literal('boolean'), optional }),
  ])
  .meta({ title: 'a field such as { type: number, min: 0 }', description: 'One field.' })

const signalSchema = z
  .strictObject({
    secretVariable: z
      .string()
      .regex(/^INTENTD_SIGNAL_[A-Z0-9_]{1,60}$/)
      .meta({
        title: 'the name of a variable such as "INTENTD_SIGNAL_TV"',
        description:
          'The environment variable that holds its secret: 16 characters at least, and no other signal has the same.',
      }),
    secretField: fieldName.optional().meta({
      description:
        'The field of the body that holds the secret, for senders that cannot set a header. It is removed as soon as it is read. Absent: only the header X-Signal-Secret.',
    }),
    idField: fieldName.optional().meta({
      description:
        'The field that names a signal: sent again under the same name it is the same signal. Absent: its contents name it.',
    }),
    timeField: fieldName.optional().meta({
      description:
        'The field that says when it was sent, Unix seconds or ms, or ISO 8601 with its zone. A signal from outside windowMs is refused. Absent: its arrival counts.',
    }),
    windowMs: presetNumber(
      { min: 1000, max: DAY_MS, preset: 60_000 },
      'A signal sent longer ago is refused, and for so long the same one is not taken again, in ms.',
    ),
    maxAgeMs: wholeNumber(
      { min: 1000, max: 7 * DAY_MS },
      'After so long strategies are not shown it any more, in ms.',
    ),
    perMinute: presetNumber(
      { min: 1, max: 600, preset: 30 },
      'Most signals in a minute; more are refused.',
    ),
    fields: z
      .record(fieldName, fieldSchema)
      .refine((fields) => Object.keys(fields).length <= FIELDS_MAX, {
        message: `expected at most ${FIELDS_MAX} fields`,
      })
      .meta({ description: 'What a signal consists of. Any other field is refused.' }),
  })
  .meta({ description: 'One signal.' })

export const signalsSchema = z
  .strictObject({
    port: wholeNumber(
      { min: 0, max: 65_535 },
      'Port of this machine at which signals are taken, and nothing else; 0 takes one that is free.',
    ),
    host: z.union([z.ipv4(), z.ipv6()]).default('127.0.0.1').meta({
      title: 'an address of this machine such as "127.0.0.1"',
      description:
        'Address of the port. A tunnel reaches the loopback address; at another one everybody who reaches this machine may try.',
    }),
    accept: z
      .record(z.string().regex(SIGNAL_NAME).meta({ title: SIGNAL_NAME_TITLE }), signalSchema)
      .refine((signals) => Object.keys(signals).length <= SIGNALS_MAX, {
        message: `expected at most ${SIGNALS_MAX} signals`,
      })
      .meta({ description: 'The signals that are taken, by name: POST /signals/NAME.' }),
  })
  .meta({
    description:
      'Signals from outside, such as the alerts of a chart, which strategies read as feeds. Absent: none is taken.',
  })
