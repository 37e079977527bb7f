import JSON

// What each team has, and taking it away.

extension SimulatorState {
    /// In order of their ids.
    var teamIDs: [String] { teams.sorted() }

    func knowsTeam(id: String) -> Bool { teams.contains(id) }

    func app(bundleID: String) -> App? { apps[bundleID] }

    /// A team's apps in order of their bundle IDs.
    func apps(teamID: String) -> [App] {
        apps.values.filter { $0.teamID == teamID }.sorted { $0.bundleID < $1.bundleID }
    }

    /// A team's keys in order of their ids.
    func keys(teamID: String) -> [RegisteredKey] {
        keys.values.filter { $0.teamID == teamID }.sorted { $0.id < $1.id }
    }

    /// A team's certificates in an order that stays.
    func certificates(teamID: String) -> [RegisteredCertificate] {
        certificates.values.filter { $0.teamID == teamID }.sorted { $0.pem < $1.pem }
    }

    /// Removes a team with all that it has; false when there is none.
    @discardableResult
    public mutating func removeTeam(id: String) -> Bool {
        guard teams.remove(id) != nil else { return false }
        for app in apps(teamID: id) { removeApp(bundleID: app.bundleID) }
        keys = keys.filter { $0.value.teamID != id }
        certificates = certificates.filter { $0.value.teamID != id }
        generation += 1
        return true
    }

    /// Makes a team or exchanges all that it has; channels of apps that it keeps stay.
    ///
    /// - Parameter add: adds it to a state without it. When that fails, nothing has changed.
    mutating func exchangeTeam(
        id: String, _ add: (inout SimulatorState) throws(InputError) -> Void
    ) throws(InputError) {
        var next = self
        next.removeTeam(id: id)
        try add(&next)
        next.channels = channels
        for app in apps(teamID: id) where !next.allowsBroadcasts(bundleID: app.bundleID) {
            next.channels.removeAll(bundleID: app.bundleID)
        }
        become(next)
    }

    /// Removes an app and its channels; false when there is none. Its devices stay known, but nobody may push to them.
    @discardableResult
    public mutating func removeApp(bundleID: String) -> Bool {
        guard apps.removeValue(forKey: bundleID) != nil else { return false }
        channels.removeAll(bundleID: bundleID)
        generation += 1
        return true
    }

    /// Removes a key, whose tokens are refused from now on; false when there is none.
    @discardableResult
    public mutating func removeKey(id: String) -> Bool {
        guard keys.removeValue(forKey: id) != nil else { return false }
        generation += 1
        return true
    }

    /// Becomes another state, as if it had been changed into that step by step: connections that are open know the apps
    /// that are in both, and verify again what they have verified.
    public mutating func become(_ other: SimulatorState) {
        let old = self
        self = other
        generation = max(old.generation, other.generation) + 1
        for (bundleID, app) in apps {
            let known = old.apps[bundleID].flatMap { $0.teamID == app.teamID ? $0.addedInGeneration : nil }
            apps[bundleID]?.addedInGeneration = known ?? generation
        }
    }
}
