import JSON

extension ConfigurationReader {
    func hasFleetControl(_ root: JSONValue) -> Bool { root["fleet"]?.kind == .object }

    /// Reads the section `fleet`. Returns nil if the section is missing or invalid.
    mutating func readFleet(_ section: JSONValue?) -> WorkerConfiguration.Fleet? {
        guard let section, section.kind == .object else { return nil }
        var fleet = WorkerConfiguration.Fleet()
        let limit = WorkerConfiguration.Fleet.reportIntervalSecondsMax
        fleet.reportIntervalSeconds =
            section["report_interval"].flatMap { seconds($0, upTo: limit) } ?? fleet.reportIntervalSeconds
        return fleet
    }
}
