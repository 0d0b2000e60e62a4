import type { Estimate } from '@keyspec/inspect'

/** An estimate with its interval, `400 (380–420)`; what was counted whole stands alone. */
export function estimate({ value, low, high }: Estimate, unit: (value: number) => string): string {
  return low === high ? unit(value) : `${unit(value)} (${unit(low)}–${unit(high)})`
}

/** A part of a whole with its interval: `12% (10–15)`. */
export function percent({ value, low, high }: Estimate): string {
  return low === high ? `${digits(value)}%` : `${digits(value)}% (${digits(low)}–${digits(high)})`
}

function digits(share: number): string {
  const hundredths = share * 100
  if (hundredths > 0 && hundredths < 0.1) return '<0.1'
  return hundredths < 10 ? String(Number(hundredths.toFixed(1))) : hundredths.toFixed(0)
}
