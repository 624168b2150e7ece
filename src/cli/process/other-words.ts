const OTHER_WORDS: Readonly<Record<string, string>> = {
  balance:
    '`intentd status` shows equity, `intentd profit` what was made; the API has no call for balances',
  config: '`intentd check` reads the configuration, `intentd plan` shows what a change would do',
  'dry-run': '`intentd run` trades on paper, unless its configuration says otherwise',
  exit: '`intentd flatten SCOPE --reason "..."` closes what strategies hold',
  forceexit: '`intentd flatten SCOPE --reason "..."` closes what strategies hold',
  logs: 'the log is its standard output: `journalctl -u intentd`, `pm2 logs intentd`, or the terminal; `intentd events --follow` shows what happens',
  performance: '`intentd profit` and `intentd trades`',
  start: '`intentd run`',
  stop: 'a daemon stops by Ctrl-C, `systemctl stop intentd`, `pm2 stop intentd` or SIGTERM; `intentd pause STRATEGY` and `intentd kill` stop trading while it runs',
  stopentry: '`intentd mode SCOPE reducing` lets only orders that reduce pass',
  trade: '`intentd run`',
}

export function adviseForWord(word = ''): string | undefined {
  return Object.hasOwn(OTHER_WORDS, word) ? OTHER_WORDS[word] : undefined
}
