public import APNS

extension Lane {
    /// There is a new provider token of a key, or none for one that was refused.
    public func take(_ news: TokenNews, of credential: Credential.Name) {
        for pool in pools where pool.configuration.credential.name == credential { pool.take(news) }
    }
}
