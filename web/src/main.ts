import { mount } from 'svelte';

import App from './App.svelte';
import { takeToken } from './lib/keys';
import { apply } from './lib/theme.svelte';
import './styles.css';

takeToken();
apply();
mount(App, { target: document.getElementById('app')! });
