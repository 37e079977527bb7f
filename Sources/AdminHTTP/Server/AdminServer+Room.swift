import EventLoop

/// A new client always gets in: probes and attackers may come from the same address, so that no address is refused.
extension AdminServer {
    /// Closes a connection if the new one, of `host`, would be one too many.
    func makeRoom(for host: PeerHost?) {
        if let host {
            let others = clients.values.filter { $0.host == host }
            if others.count >= configuration.connectionsPerHostMax,
                let oldest = others.filter({ !$0.hasRequest }).min(by: { $0.waitingSince < $1.waitingSince })
            {
                close(oldest, .address)
            }
        }
        guard clients.count >= configuration.connectionsMax else { return }
        // One that has a request only if all have.
        let oldest = clients.values.min {
            ($0.hasRequest ? 1 : 0, $0.waitingSince) < ($1.hasRequest ? 1 : 0, $1.waitingSince)
        }
        if let oldest { close(oldest, .full) }
    }

    /// Closes a connection, of which libmicrohttpd is rid when it runs.
    ///
    /// - Parameter cause: counted; nil where the connection was idle.
    func close(_ client: AdminClient, _ cause: AdminClosing?) {
        guard clients.removeValue(forKey: ObjectIdentifier(client)) != nil else { return }
        client.shut()
        if let cause { onClosed?(cause) }
    }
}
