/** To be written. */
export const EditorPage = () => <h1>Editor</h1>
