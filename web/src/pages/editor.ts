// A chunk of its own: the text editor is the largest part of the page and is loaded when needed.
export { default as Editor } from './Editor.svelte';
