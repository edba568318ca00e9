// What the parts of the console that load later have in common with the page that loads first. Each part imports this
// file, so that all of it becomes one file, which is loaded once (docs/console.md#files).
import './doc';
import './http';
import './spec';
import './route';
import './ui';
import './shown';
