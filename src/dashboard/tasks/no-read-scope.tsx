/** What pages say to a key that may not read tasks. */
export const NoReadScope = () => (
  <p className="quiet">
    Your key does not have the scope <code>tasks:read</code>. Sign in with another key.
  </p>
)
