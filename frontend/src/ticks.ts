// Round numbers for axes.

export function byteTicks(most: number) {
  const steps = [1, 2, 5]
    .flatMap((digit) => Array.from({ length: 18 }, (_, power) => digit * 10 ** power))
    .sort((a, b) => a - b);
  const step = steps.find((each) => most / each <= 3) ?? 1;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
}

export function niceTicks(most: number) {
  const steps = [1, 2, 5]
    .flatMap((digit) => Array.from({ length: 16 }, (_, power) => digit * 10 ** power))
    .sort((a, b) => a - b);
  const step = steps.find((each) => most / each <= 3) ?? most;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
}
