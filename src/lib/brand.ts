declare const brand: unique symbol

/** A type that only its own constructor can make: `Brand<string, 'ClientOid'>`. */
export type Brand<Value, Name extends string> = Value & { readonly [brand]: Name }
