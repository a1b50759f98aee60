from tests.redisserver import redis_server

__all__ = ["redis_server"]
