import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// As tools/build_frontend.py bundles.
const alias = { "d3-transition": fileURLToPath(new URL("./src/no_transitions.ts", import.meta.url)) };

export default defineConfig({
  resolve: { alias },
  test: { environment: "happy-dom", include: ["tests/**/*.test.{ts,tsx}"] },
});
