/** Keys that seem to hold a secret: lower case, no separators. */
const SECRET_KEYS = new Map([
  ['apikey', 'INTENTD_API_KEY'],
  ['accesskey', 'INTENTD_API_KEY'],
  ['apisecret', 'INTENTD_API_SECRET'],
  ['secret', 'INTENTD_API_SECRET'],
  ['secretkey', 'INTENTD_API_SECRET'],
  ['privatekey', 'INTENTD_API_SECRET'],
  ['passphrase', 'INTENTD_API_PASSPHRASE'],
  ['apipassphrase', 'INTENTD_API_PASSPHRASE'],
  ['password', 'INTENTD_API_PASSPHRASE'],
  ['bottoken', 'INTENTD_ALERT_...'],
  ['webhook', 'INTENTD_ALERT_...'],
  ['webhookurl', 'INTENTD_ALERT_...'],
])

export const secretVariableFor = (key: string): string | undefined =>
  SECRET_KEYS.get(key.toLowerCase().replaceAll(/[^a-z]/g, ''))
