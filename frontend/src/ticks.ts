// Round numbers for axes.

/** Return 0 and up to three multiples of 1, 2 or 5 times a power of ten, none above the most. */
export function roundTicks(most: number) {
  const steps = Array.from({ length: 18 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();
  const step = steps.find((each) => most / each <= 3) ?? most;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
}
