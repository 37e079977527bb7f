/// The work of a client of a store. The raw values are words of the command lines of both clients.
enum StoreWork: String, CaseIterable {
    /// Searches for the devices of users.
    case lookups
    /// Registers stored tokens again, in batches.
    case registrations
    /// Registers stored tokens again, with a transaction for each.
    case single
}
