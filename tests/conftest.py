from tests.support.redisserver import own_server, redis_server

__all__ = ["own_server", "redis_server"]
