import Delivery
import JSON

extension ConfigurationReader {
    func hasJournal(_ root: JSONValue) -> Bool { root["journal"]?.kind == .object }

    /// Reads the section `journal`. Returns nil if the section is missing or invalid. Reports a section without the
    /// section `fleet`.
    mutating func readJournal(_ root: JSONValue) -> JournalSettings? {
        guard let section = root["journal"], section.kind == .object else { return nil }
        // The schema reports an invalid section fleet.
        guard root["fleet"] != nil else {
            complain(section, "journal requires the section fleet, which connects the worker to the stream")
            return nil
        }
        var journal = JournalSettings()
        journal.samplesDeadLetters = section["samples"]?.bool ?? journal.samplesDeadLetters
        journal.acceptedShare = section["accepted"]?.double ?? journal.acceptedShare
        return journal
    }
}
