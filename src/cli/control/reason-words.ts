export function toWords(reason: string): string {
  return reason.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}
