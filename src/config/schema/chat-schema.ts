import { z } from 'zod'

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
    apiUrl: z
      .url({ protocol: /^https?$/ })
      .optional()
      .meta({
        title: 'an address such as "https://api.telegram.org"',
        description: 'Another server of the telegram bot API; absent: the public one.',
      }),
  })
  .meta({ description: 'Questions and commands by Telegram, which `intentd chat` answers.' })
