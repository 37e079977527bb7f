import JSON

// Reading, replacing and removing teams and their parts.

extension SimulatorState {
    /// The IDs of all teams, sorted.
    var teamIDs: [String] { teams.sorted() }

    func hasTeam(id: String) -> Bool { teams.contains(id) }

    func app(bundleID: String) -> App? { apps[bundleID] }

    /// Returns a team's apps, sorted by bundle ID.
    func apps(teamID: String) -> [App] {
        apps.values.filter { $0.teamID == teamID }.sorted { $0.bundleID < $1.bundleID }
    }

    /// Returns a team's keys, sorted by ID.
    func keys(teamID: String) -> [RegisteredKey] {
        keys.values.filter { $0.teamID == teamID }.sorted { $0.id < $1.id }
    }

    /// Returns a team's certificates in a stable order.
    func certificates(teamID: String) -> [RegisteredCertificate] {
        certificates.values.filter { $0.teamID == teamID }.sorted { $0.pem < $1.pem }
    }

    /// Removes a team with its apps, their channels, its keys and its certificates. Returns false if the team does not
    /// exist.
    @discardableResult
    public mutating func removeTeam(id: String) -> Bool {
        guard teams.remove(id) != nil else { return false }
        for app in apps(teamID: id) { removeApp(bundleID: app.bundleID) }
        keys = keys.filter { $0.value.teamID != id }
        certificates = certificates.filter { $0.value.teamID != id }
        generation += 1
        return true
    }

    /// Creates or replaces a team. Keeps the channels of apps that remain and may still broadcast.
    ///
    /// - Parameter add: adds the team to a state without the team. If `add` throws, this state is unchanged.
    mutating func replaceTeam(
        id: String, _ add: (inout SimulatorState) throws(InputError) -> Void
    ) throws(InputError) {
        var next = self
        next.removeTeam(id: id)
        try add(&next)
        next.channels = channels
        for app in apps(teamID: id) where !next.allowsBroadcasts(bundleID: app.bundleID) {
            next.channels.removeAll(bundleID: app.bundleID)
        }
        replace(with: next)
    }

    /// Removes an app and its channels. Returns false if the app does not exist. The devices of the app remain. Pushes
    /// to the app with the team's provider tokens are refused from now on, unless ``acceptsUnknownTopics`` is true.
    @discardableResult
    public mutating func removeApp(bundleID: String) -> Bool {
        guard apps.removeValue(forKey: bundleID) != nil else { return false }
        channels.removeAll(bundleID: bundleID)
        generation += 1
        return true
    }

    /// Removes a key. Its tokens are refused from now on. Returns false if the key does not exist.
    @discardableResult
    public mutating func removeKey(id: String) -> Bool {
        guard keys.removeValue(forKey: id) != nil else { return false }
        generation += 1
        return true
    }

    /// Replaces this state by another, as if by single changes. Open connections verify their tokens again, and can
    /// still use the apps that belong to the same team in both states.
    public mutating func replace(with other: SimulatorState) {
        let old = self
        self = other
        generation = max(old.generation, other.generation) + 1
        for (bundleID, app) in apps {
            let known = old.apps[bundleID].flatMap { $0.teamID == app.teamID ? $0.addedInGeneration : nil }
            apps[bundleID]?.addedInGeneration = known ?? generation
        }
    }
}
