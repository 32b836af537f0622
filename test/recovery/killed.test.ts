import { killings, moments } from './killings.js';

killings(moments);
