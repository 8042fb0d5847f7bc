import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

// File names without hashes: the files are committed and embedded in the program by name. The
// server sends an ETag for each, so browsers still notice new versions.
export default defineConfig({
  plugins: [svelte()],
  build: {
    outDir: '../crates/agon-web/assets',
    emptyOutDir: true,
    modulePreload: false,
    cssCodeSplit: false,
    chunkSizeWarningLimit: 700,
    rollupOptions: {
      output: {
        entryFileNames: 'assets/app.js',
        chunkFileNames: 'assets/[name].js',
        assetFileNames: (asset) =>
          asset.names?.some((name) => name.endsWith('.css'))
            ? 'assets/app.css'
            : 'assets/[name][extname]',
      },
    },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8000' } },
});
